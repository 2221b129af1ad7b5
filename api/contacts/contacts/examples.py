"""Examples for the document."""

CONTACT = {
    "phoneNumber": "+4722222222",
    "contactListId": "17",
    "fName": "Nina",
    "lName": "Berg",
    "email": "nina@example.com",
    "addToRunningCampaign": False,
}
